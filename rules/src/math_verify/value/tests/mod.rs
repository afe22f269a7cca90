mod hostile;
mod pairs;
mod reading;
