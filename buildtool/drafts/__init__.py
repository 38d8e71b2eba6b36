"""First versions of files that a user goes on with: a deployment file, an operator."""
