"""Result-neutral machinery: command lines, errors, logs, atomic files, processes."""
