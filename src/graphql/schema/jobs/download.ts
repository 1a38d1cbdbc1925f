import { createTicket, ticketSecondsMax } from '../../../domain/download-tickets.ts'
import { InvalidInput, jobNotFound, NotFound } from '../../../domain/errors.ts'
import { type DownloadTarget, formatTarget, type LogFormat } from '../../rows/download-target.ts'
import { builder } from '../frame/builder.ts'
import { describeValues } from '../frame/enum-values.ts'
import { declareResult } from '../frame/mutation-result.ts'
import { includedStreams } from './log.ts'

const DownloadFormat = builder.enumType('DownloadFormat', {
  description: 'How a log is written into a file.',
  values: describeValues({
    RAW: 'The bytes of the streams as the job wrote them, without gaps. A download that broke can go on.',
    PLAIN: 'Text without colours and other escape sequences of terminals.',
    JSONL: 'A JSON object per line: run, line, at, stream and text; or run, gap, startOffset and endOffset.',
  } satisfies Record<LogFormat, string>),
})

const LogDownload = builder.inputType('LogDownload', {
  description: 'The log of a job as a file.',
  fields: (t) => ({
    jobId: t.id({ required: true, description: 'The job whose output is downloaded: job_…' }),
    run: t.int({ description: 'Number of the run whose log is downloaded (default: all runs).' }),
    streams: t.field(includedStreams),
    format: t.field({ type: DownloadFormat, defaultValue: 'RAW', description: 'How the log is written.' }),
  }),
})

const CreateDownloadInput = builder.inputType('CreateDownloadInput', {
  description: 'The file to download; set exactly one field.',
  isOneOf: true,
  fields: (t) => ({
    log: t.field({ type: LogDownload, description: 'The log of a job.' }),
    artifactId: t.id({ description: 'The text or file that is downloaded: artifact_…' }),
    filesOfJob: t.id({ description: 'The job whose files are downloaded as a tar, the newest of each name: job_…' }),
  }),
})

const CreateDownloadSuccess = builder
  .objectRef<{ ticket: string; target: string; expiresAt: Date }>('CreateDownloadSuccess')
  .implement({
    description: 'The address of a file.',
    fields: (t) => ({
      url: t.string({
        description: 'The address below that of the server, with a ticket for this file and your user. Keep it secret.',
        resolve: ({ target, ticket }) => `${target}${target.includes('?') ? '&' : '?'}ticket=${ticket}`,
      }),
      expiresAt: t.expose('expiresAt', {
        type: 'DateTime',
        description: 'Until when a download may begin, or go on after a break.',
      }),
    }),
  })

const CreateDownloadResult = declareResult('CreateDownload', CreateDownloadSuccess, [NotFound])

type Given = typeof CreateDownloadInput.$inferInput

const noArtifact = (id: string) => new NotFound(`Artifact ${id} does not exist, or is a link`)
const refuseInput = (field: string, message: string) => new InvalidInput([{ path: ['log', field], message }])

function readTarget({ log, artifactId, filesOfJob }: Given): DownloadTarget {
  if (filesOfJob != null) return { kind: 'files', jobId: filesOfJob }
  if (!log) return { kind: 'artifact', artifactId: artifactId ?? '' }
  const { jobId, run = null, streams, format } = log
  if (run !== null && run < 1) throw refuseInput('run', 'must be 1 or more')
  const chosen = streams ?? (['STDOUT', 'STDERR'] as const)
  if (chosen.length === 0) throw refuseInput('streams', 'must have at least one stream')
  return { kind: 'log', jobId, run, streams: chosen, format: format ?? 'RAW' }
}

builder.mutationField('createDownload', (t) =>
  t.field({
    type: CreateDownloadResult,
    description: `Makes an address from which a browser downloads a file without a token, for ${ticketSecondsMax / 60} minutes.`,
    args: { input: t.arg({ type: CreateDownloadInput, required: true, description: 'The file.' }) },
    async resolve(_root, { input }, { domain, viewer, load }) {
      const target = readTarget(input)
      const artifact = target.kind === 'artifact' ? await load.artifact.load(target.artifactId) : null
      if (target.kind === 'artifact' && (!artifact || artifact.uri !== null)) throw noArtifact(target.artifactId)
      const jobId = target.kind === 'artifact' ? (artifact?.jobId ?? '') : target.jobId
      if (!(await load.job.load(jobId)))
        throw target.kind === 'artifact' ? noArtifact(target.artifactId) : jobNotFound(jobId)
      const path = formatTarget(target)
      return { target: path, ...(await createTicket(domain, viewer, path)) }
    },
  }),
)
