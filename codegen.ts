import type { CodegenConfig } from '@graphql-codegen/cli'

/** Typed documents of the client, from the published schema and nothing else. `npm run codegen` writes them. */
const config: CodegenConfig = {
  schema: 'schema.graphql',
  documents: ['src/client/*.graphql'],
  generates: {
    'src/client/generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false, skipIndexFile: true },
      config: {
        // Plain texts and erasable types: Node runs the result as it is, and a client needs no GraphQL parser.
        documentMode: 'string',
        enumType: 'const',
        useTypeImports: true,
        importExtension: '.ts',
        strictScalars: true,
        scalars: {
          ID: 'string',
          DateTime: 'string',
          UInt53: 'number',
          Cursor: 'string',
          JSONObject: 'Record<string, unknown>',
        },
      },
    },
    'src/client/generated/cache.ts': { plugins: ['./codegen-cache.ts'] },
  },
}

export default config
