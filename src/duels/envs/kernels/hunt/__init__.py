"""Hunt's levels for many games at once."""
