"""Read a Bicep file, as far as its values are known without a compiler and before it is deployed. Pure, apart from reading the files."""
