"""What is averaged over pairs: functions of a block of rows and columns, and how they combine."""
