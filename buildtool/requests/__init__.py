"""What a deployment asks of each stage, in the words of that stage."""
