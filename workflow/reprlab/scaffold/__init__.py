"""Files of a new paper, model or task, from the worked examples of docs/adding.md."""
