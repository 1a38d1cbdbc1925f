import { artifactBodyBytesMax, artifactMetadataBytesMax } from '../../../domain/inside/artifacts.ts'
import { artifactBodyCost, artifactMetadataCost } from '../../caller-limits.ts'
import { builder } from '../frame/builder.ts'
import { declareConnection } from '../frame/connection-type.ts'
import { describeValues } from '../frame/enum-values.ts'
import { exposeColumns, loadWithVisibleJob, objectField } from '../frame/fields.ts'
import { ArtifactRef } from '../frame/refs.ts'

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
  loadMany: (ids, { load }) => loadWithVisibleJob(load, load.artifact, ids),
  fields: (t) => ({
    ...exposeColumns(t, {
      name: [
        'String',
        'Name chosen by the job, or path of a file. Several artifacts may have the same name; the last one is the newest.',
      ],
      mediaType: ['String', 'Media type, such as text/plain.'],
      uri: ['String?', 'Address of the result; null: it is a text or a file.'],
      sizeBytes: ['UInt53?', 'Bytes of `body` or of the file; null: unknown.'],
      createdAt: ['DateTime', 'When the artifact was published.'],
    }),
    job: objectField(t, 'jobId', 'The job that published it.'),
    run: objectField(t, 'runId', 'The run that published the artifact.'),
    kind: t.field({
      type: ArtifactKind,
      description: 'Where the content is.',
      resolve: ({ uri, body }) => (uri !== null ? 'LINK' : body !== null ? 'TEXT' : 'FILE'),
    }),
    body: t.exposeString('body', {
      nullable: true,
      description: `The text, at most ${artifactBodyBytesMax / 1024} KiB; null: the result is a link or a file.`,
      complexity: artifactBodyCost,
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
  }),
})

export const ArtifactConnection = declareConnection('Artifact', ArtifactRef)
