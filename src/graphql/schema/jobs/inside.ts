import { closureBytesMax } from '../../../domain/closure.ts'
import { artifactBodyBytesMax, artifactMetadataBytesMax, publishArtifact } from '../../../domain/inside/artifacts.ts'
import { saveClosure } from '../../../domain/inside/closures.ts'
import { reportedMax } from '../../../domain/inside/metrics.ts'
import { reportProgress } from '../../../domain/inside/progress.ts'
import { demandRun } from '../../../domain/inside/run-tokens.ts'
import { capList } from '../../admission/argument-bounds.ts'
import { builder } from '../frame/builder.ts'
import { objectField } from '../frame/fields.ts'
import { declareMutation } from '../frame/mutation.ts'
import type { SuccessFields } from '../frame/mutation-result.ts'

const describeStored = (description: string) => ({
  description,
  fields: (t: SuccessFields<{ runId: string }>) => ({
    run: objectField(t, 'runId', 'The run of the token.'),
  }),
})

const MetricInput = builder.inputType('MetricInput', {
  description: 'A number that the job reports over its steps, such as the loss of a training.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description:
        'Name, 1 … 64 letters, digits and `_`, `.`, `/`, `-`; the first is a letter or `_`. A run can report 64 names.',
    }),
    value: t.float({ required: true, description: 'The number.' }),
    step: t.field({
      type: 'UInt53',
      description:
        'Step of the job. A second value of a step replaces the first. Omitted: the step after the newest one, unless the value is that of the newest step; then nothing is stored.',
    }),
  }),
})

// These mutations are for jobs, which use the token of their run; admission.ts lists them.

declareMutation('reportProgress', {
  description:
    'Sets the progress of the calling job, which uses the token of its run. The server stores at most one report per run and second.',
  input: {
    argumentDescription: 'The progress.',
    description: 'The progress of the job.',
    fields: (t) => ({
      fraction: t.float({ description: '0 … 1; omitted: unchanged; null: removed.' }),
      message: t.string({ description: 'At most 1,000 characters; omitted: unchanged; null: removed.' }),
      metrics: t.field({
        type: [MetricInput],
        ...capList(
          reportedMax,
          'Numbers over the steps of the job, for `Run.metrics`; each pair of name and step once',
        ),
      }),
    }),
  },
  success: describeStored('This report or a newer one is stored.'),
  async resolve(input, { domain, viewer }) {
    await reportProgress(domain, viewer, input)
    return demandRun(viewer)
  },
})

declareMutation('publishArtifact', {
  description:
    'Publishes a result of the calling job, which uses the token of its run. Publishing the same content again returns the same artifact. A run can publish 1,000 artifacts.',
  input: {
    argumentDescription: 'The artifact.',
    description: 'A result to publish, with either `uri`, `body` or `snapshotId`.',
    fields: (t) => ({
      name: t.string({ required: true, description: 'Name, 1 … 255 characters.' }),
      mediaType: t.string({ required: true, description: 'Media type, such as text/plain.' }),
      uri: t.string({ description: 'Address of the result: an absolute URI of at most 2,048 characters.' }),
      body: t.string({ description: `The text itself, at most ${artifactBodyBytesMax / 1024} KiB.` }),
      snapshotId: t.id({
        description: 'A snapshot of one file, which the run sent by createSnapshot: snapshot_…; `name` is its path.',
      }),
      metadata: t.field({
        type: 'JSONObject',
        description: `Further details, at most ${artifactMetadataBytesMax / 1024} KiB.`,
      }),
    }),
  },
  success: {
    description: 'The artifact is published.',
    fields: (t) => ({
      artifact: objectField(t, 'id', 'The artifact as stored, with its id.', 'artifact'),
    }),
  },
  resolve: async (input, { domain, viewer }) => ({ id: await publishArtifact(domain, viewer, input) }),
})

declareMutation('saveClosure', {
  description:
    'Saves data that a later run of the calling job needs to continue; the job uses the token of its run. The closure replaces the previous one.',
  input: {
    argumentDescription: 'The closure.',
    description: 'The closure of the job.',
    fields: (t) => ({
      closure: t.field({
        type: 'JSONObject',
        required: true,
        description: `Any JSON object of at most ${closureBytesMax / 1024} KiB.`,
      }),
    }),
  },
  success: describeStored('The closure is stored.'),
  async resolve({ closure }, { domain, viewer }) {
    await saveClosure(domain, viewer, closure)
    return demandRun(viewer)
  },
})
