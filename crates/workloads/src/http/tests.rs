//! Load on servers whose behaviour is known.
