import { closureBytesMax } from '../../domain/closure.ts'
import { artifactBodyBytesMax, artifactMetadataBytesMax, publishArtifact } from '../../domain/inside/artifacts.ts'
import { saveClosure } from '../../domain/inside/closures.ts'
import { reportProgress } from '../../domain/inside/progress.ts'
import { builder } from './builder.ts'
import { requireRow } from './problem.ts'
import { ArtifactRef } from './refs.ts'

/** Mutations for jobs, which use the token of their run; admission.ts lists them. */
builder.mutationField('reportProgress', (t) =>
  t.boolean({
    description:
      'Sets the progress of the calling job, which uses the token of its run. Returns true when this report or a newer one is stored; the server stores at most one report per run and second.',
    args: {
      fraction: t.arg.float({ description: '0 … 1; omitted: unchanged; null: removed.' }),
      message: t.arg.string({ description: 'At most 1,000 characters; omitted: unchanged; null: removed.' }),
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
    uri: t.string({ description: 'Address of the result: an absolute URI of at most 2,048 characters.' }),
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
      'Publishes a result of the calling job, which uses the token of its run. Publishing the same content again returns the same artifact. A run can publish 1,000 artifacts.',
    args: { input: t.arg({ type: PublishArtifactInput, required: true, description: 'The artifact.' }) },
    resolve: async (_root, { input }, { domain, viewer, load }) =>
      requireRow(load.artifact.load(await publishArtifact(domain, viewer, input))),
  }),
)

builder.mutationField('saveClosure', (t) =>
  t.boolean({
    description:
      'Saves data that a later run of the calling job needs to continue; the job uses the token of its run. The closure replaces the previous one. Returns true when it is stored.',
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
