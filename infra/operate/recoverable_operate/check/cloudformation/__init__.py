"""Read a template of CloudFormation or SAM, as far as its values are known before it is deployed. Pure, apart from reading the file."""
