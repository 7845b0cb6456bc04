"""The rules: what must be right in a deployment, one function each; `every` lists them."""
