//! Does the server keep to what the guard promises, over a real connection?
