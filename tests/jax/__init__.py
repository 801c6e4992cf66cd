"""The JAX environments: `make jax-test` runs these in an environment of their own."""
