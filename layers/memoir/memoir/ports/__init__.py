"""What the use cases need from the outside world, an idea a module."""
