import { artifactBodyBytesMax, artifactMetadataBytesMax } from '../../../domain/inside/artifacts.ts'
import { artifactBodyCost, artifactMetadataCost } from '../../caller-limits.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { requireRow } from '../frame/problem.ts'
import { ArtifactRef, JobRef, RunRef } from '../frame/refs.ts'

builder.node(ArtifactRef, {
  description: 'A result that a run published: a link or a small text. Deleting the job deletes its artifacts.',
  id: { resolve: (artifact) => artifact.id, description: 'Global id, for `node`: artifact_…' },
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
      description: 'The job that published it.',
      resolve: ({ jobId }, _args, { load }) => requireRow(load.job.load(jobId)),
    }),
    run: t.field({
      type: RunRef,
      description: 'The run that published the artifact.',
      resolve: ({ runId }, _args, { load }) => requireRow(load.run.load(runId)),
    }),
    name: t.exposeString('name', {
      description: 'Name chosen by the job. Several artifacts may have the same name; the last one is the newest.',
    }),
    mediaType: t.exposeString('mediaType', { description: 'Media type, such as text/plain.' }),
    uri: t.exposeString('uri', {
      nullable: true,
      description: 'Address of the result; null: `body` contains the result.',
    }),
    body: t.exposeString('body', {
      nullable: true,
      description: `The text, at most ${artifactBodyBytesMax / 1024} KiB; null: \`uri\` points to the result.`,
      complexity: artifactBodyCost,
    }),
    sizeBytes: t.expose('sizeBytes', {
      type: 'UInt53',
      nullable: true,
      description: 'Bytes of `body`; null: unknown.',
    }),
    metadata: t.expose('metadata', {
      type: 'JSONObject',
      nullable: true,
      description: `Further details given by the job, at most ${artifactMetadataBytesMax / 1024} KiB.`,
      complexity: artifactMetadataCost,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the artifact was published.' }),
  }),
})

export const ArtifactConnection = declareConnection('Artifact', ArtifactRef)
