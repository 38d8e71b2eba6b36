"""What a kmodel computes, to the last bit; and what each of its layers means in numbers."""
