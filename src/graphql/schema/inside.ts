import { closureBytesMax } from '../../domain/closure.ts'
import { artifactBodyBytesMax, artifactMetadataBytesMax, publishArtifact } from '../../domain/inside/artifacts.ts'
import { saveClosure } from '../../domain/inside/closures.ts'
import { reportProgress } from '../../domain/inside/progress.ts'
import { builder } from './builder.ts'
import { seen } from './problem.ts'
import { ArtifactRef } from './refs.ts'

/** What a job says of itself, with the token of its run. admission.ts names these three mutations. */
builder.mutationField('reportProgress', (t) =>
  t.boolean({
    description:
      'For a job, with the token of its run: sets the progress of the job. Answers true when this report, or a newer one of the run, is stored; a run is stored at most once a second.',
    args: {
      fraction: t.arg.float({ description: '0 … 1; left out: unchanged; null: removed.' }),
      message: t.arg.string({ description: 'At most 1,000 characters; left out: unchanged; null: removed.' }),
    },
    async resolve(_root, report, { domain, viewer }) {
      await reportProgress(domain, viewer, report)
      return true
    },
  }),
)

const PublishArtifactInput = builder.inputType('PublishArtifactInput', {
  description: 'A result to publish, with either `uri` or `body`.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Name, 1 … 255 characters.' }),
    mediaType: t.string({ required: true, description: 'Media type, such as text/plain.' }),
    uri: t.string({ description: 'Where it is: an absolute URI of at most 2,048 characters.' }),
    body: t.string({ description: `The text itself, at most ${artifactBodyBytesMax / 1024} KiB.` }),
    metadata: t.field({
      type: 'JSONObject',
      description: `Further details, at most ${artifactMetadataBytesMax / 1024} KiB.`,
    }),
  }),
})

builder.mutationField('publishArtifact', (t) =>
  t.field({
    type: ArtifactRef,
    description:
      'For a job, with the token of its run: publishes a result. The same content of a run is one artifact, so it may be repeated. A run can publish 1,000.',
    args: { input: t.arg({ type: PublishArtifactInput, required: true, description: 'The artifact.' }) },
    resolve: async (_root, { input }, { domain, viewer, load }) =>
      seen(load.artifact.load(await publishArtifact(domain, viewer, input))),
  }),
)

builder.mutationField('saveClosure', (t) =>
  t.boolean({
    description:
      'For a job, with the token of its run: saves what a later run of the job needs to continue. It replaces the one before, and is stored when true is returned.',
    args: {
      closure: t.arg({
        type: 'JSONObject',
        required: true,
        description: `Any JSON object of at most ${closureBytesMax / 1024} KiB.`,
      }),
    },
    async resolve(_root, { closure }, { domain, viewer }) {
      await saveClosure(domain, viewer, closure)
      return true
    },
  }),
)
