import type { CodegenConfig } from '@graphql-codegen/cli'

/** Typed documents of the client, from the published schema and nothing else. `npm run codegen` writes them. */
const scalars = {
  ID: 'string',
  DateTime: 'string',
  UInt53: 'number',
  Cursor: 'string',
  JSONObject: 'Record<string, unknown>',
}

const pythonOperations = [
  ...['PythonSubmitJob', 'PythonSubmitJobs', 'PythonRetryJob', 'PythonCancelJob', 'PreviewJob'],
  ...['PythonJob', 'PythonKey', 'PythonExplanation', 'PythonJobEvents', 'LiveJobs', 'JobSpec', 'Artifacts', 'Artifact'],
  ...['PythonJobStatus', 'JobUpdates', 'Tail', 'JobLogs', 'ReportProgress', 'PublishArtifact', 'SaveClosure'],
  ...['SnapshotLimits', 'CreateSnapshot'],
]

const config: CodegenConfig = {
  schema: 'schema.graphql',
  generates: {
    'src/client/generated/graphql.ts': {
      documents: ['src/client/documents/*.graphql'],
      plugins: ['typescript-operations', 'typed-document-node'],
      config: {
        // Plain texts and erasable types: Node runs the result as it is, and a client needs no GraphQL parser.
        documentMode: 'string',
        pureMagicComment: true, // bundlers leave out the documents that a page does not use
        enumType: 'const',
        useTypeImports: true,
        importExtension: '.ts',
        strictScalars: true,
        scalars,
      },
    },
    'src/client/generated/cache.ts': { plugins: ['./src/client/caches/codegen-plugin.ts'] },
    'web/generated/graphql.ts': {
      documents: ['web/documents/*.graphql', 'src/client/documents/{fragments,secrets,selections,spec}.graphql'],
      plugins: ['typescript-operations', 'typed-document-node'],
      config: {
        documentMode: 'string',
        pureMagicComment: true,
        enumType: 'string-literal',
        useTypeImports: true,
        strictScalars: true,
        scalars,
      },
    },
    'web/generated/spec-fields.ts': { plugins: ['./codegen-spec-fields.ts'] },
    'clients/python/src/berth/generated/documents.py': {
      documents: ['src/client/documents/*.graphql'],
      plugins: [{ './codegen-python.ts': { write: 'documents', operations: pythonOperations } }],
    },
    'clients/python/src/berth/generated/types.py': {
      documents: ['src/client/documents/*.graphql'],
      plugins: [
        {
          './codegen-python.ts': {
            write: 'types',
            inputs: ['JobSpecInput', 'JobFilter'],
            positional: ['command'],
            classes: {
              LiveJob: 'Job',
              JobEventRow: 'JobEvent',
              JobExplanation: 'Explanation',
              JobPreviewRow: 'Preview',
              ArtifactRow: 'Artifact',
            },
            bases: { Job: 'JobView', Explanation: 'ExplanationView' },
          },
        },
      ],
    },
  },
}

export default config
