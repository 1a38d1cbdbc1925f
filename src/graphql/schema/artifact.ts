import { artifactBodyBytesMax, artifactMetadataBytesMax } from '../../domain/inside/artifacts.ts'
import { artifactBodyCost, artifactMetadataCost } from '../caller-limits.ts'
import { builder } from './builder.ts'
import { connectionType } from './connection-type.ts'
import { seen } from './problem.ts'
import { ArtifactRef, JobRef } from './refs.ts'

/** What runs publish. */
builder.node(ArtifactRef, {
  description: 'A result that a run published: a link or a small text. It is removed with its job.',
  id: { resolve: (artifact) => artifact.id, description: 'artifact_…' },
  // An artifact is as visible as its job.
  async loadMany(ids, { load }) {
    const artifacts = await Promise.all(ids.map((id) => load.artifact.load(id)))
    return Promise.all(
      artifacts.map(async (artifact) => (artifact && (await load.job.load(artifact.jobId)) ? artifact : null)),
    )
  },
  fields: (t) => ({
    job: t.field({
      type: JobRef,
      description: 'The job.',
      resolve: ({ jobId }, _args, { load }) => seen(load.job.load(jobId)),
    }),
    run: t.exposeInt('run', { description: 'Number of the run that published it.' }),
    name: t.exposeString('name', {
      description: 'Name chosen by the job. It may occur again with other content; the last one is the newest.',
    }),
    mediaType: t.exposeString('mediaType', { description: 'Media type, such as text/plain.' }),
    uri: t.exposeString('uri', { nullable: true, description: 'Where it is; null: it is in `body`.' }),
    body: t.exposeString('body', {
      nullable: true,
      description: `The text, at most ${artifactBodyBytesMax / 1024} KiB; null: it is at \`uri\`.`,
      complexity: artifactBodyCost,
    }),
    sizeBytes: t.expose('sizeBytes', {
      type: 'UInt53',
      nullable: true,
      description: 'Bytes of `body`; null: not known.',
    }),
    metadata: t.expose('metadata', {
      type: 'JSONObject',
      nullable: true,
      description: `Further details given by the job, at most ${artifactMetadataBytesMax / 1024} KiB.`,
      complexity: artifactMetadataCost,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was published.' }),
  }),
})

export const ArtifactConnection = connectionType('Artifact', ArtifactRef)
