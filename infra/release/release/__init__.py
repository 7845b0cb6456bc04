"""Build the distributions of this repository, check all that is about to be published, and cut a release in the changelog."""
