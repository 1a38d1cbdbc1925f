import { artifactBodyBytesMax, artifactMetadataBytesMax } from '../../../domain/inside/artifacts.ts'
import { artifactBodyCost, artifactMetadataCost } from '../../caller-limits.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { describeValues } from '../frame/enum-values.ts'
import { requireRow } from '../frame/problem.ts'
import { ArtifactRef, JobRef, RunRef } from '../frame/refs.ts'

const ArtifactKind = builder.enumType('ArtifactKind', {
  description: 'Where the content of an artifact is.',
  values: describeValues({
    LINK: 'At `uri`.',
    TEXT: 'In `body`.',
    FILE: 'In a stored file, which `createDownload` gives.',
  }),
})

builder.node(ArtifactRef, {
  description: 'A result of a run: a link, a small text or a file. Deleting the job deletes its artifacts.',
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
      description:
        'Name chosen by the job, or path of a file. Several artifacts may have the same name; the last one is the newest.',
    }),
    kind: t.field({
      type: ArtifactKind,
      description: 'Where the content is.',
      resolve: ({ uri, body }) => (uri !== null ? 'LINK' : body !== null ? 'TEXT' : 'FILE'),
    }),
    mediaType: t.exposeString('mediaType', { description: 'Media type, such as text/plain.' }),
    uri: t.exposeString('uri', {
      nullable: true,
      description: 'Address of the result; null: it is a text or a file.',
    }),
    body: t.exposeString('body', {
      nullable: true,
      description: `The text, at most ${artifactBodyBytesMax / 1024} KiB; null: the result is a link or a file.`,
      complexity: artifactBodyCost,
    }),
    sizeBytes: t.field({
      type: 'UInt53',
      nullable: true,
      description: 'Bytes of `body` or of the file; null: unknown.',
      resolve: ({ sizeBytes }) => (sizeBytes === null ? null : Number(sizeBytes)),
    }),
    sha256: t.string({
      nullable: true,
      description: 'SHA-256 of the file, in hexadecimal digits; null: a link or a text.',
      resolve: ({ sha256 }) => (sha256 === null ? null : Buffer.from(sha256).toString('hex')),
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
