"""Written by `npm run codegen` from schema.graphql."""
