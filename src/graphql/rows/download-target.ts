import { type LogStream, logStreams } from '../../logs/lines.ts'

/** Objects that can be downloaded as a file, and their URL paths. */
export const logFormats = ['RAW', 'PLAIN', 'JSONL'] as const
export type LogFormat = (typeof logFormats)[number]

export interface LogTarget {
  kind: 'log'
  jobId: string
  /** null: all runs. */
  run: number | null
  streams: readonly LogStream[]
  format: LogFormat
}

export interface ArtifactTarget {
  kind: 'artifact'
  artifactId: string
}

/** The files among the artifacts of a job, as a tar. */
export interface FilesTarget {
  kind: 'files'
  jobId: string
  /** Name after which the tar begins, so that an interrupted download can resume. A ticket is valid for all files. */
  after?: string | undefined
}

/** The snapshot of a job. */
export interface SnapshotDownload {
  kind: 'snapshot'
  jobId: string
}

export type DownloadTarget = LogTarget | ArtifactTarget | FilesTarget | SnapshotDownload

export const downloadPath = '/download/'
const runMax = 2 ** 31 - 1
const defaultStreams: readonly LogStream[] = ['STDOUT', 'STDERR']

/** The path without a ticket, for which a ticket is made. Equal targets have equal paths. */
export function formatTarget(target: DownloadTarget): string {
  if (target.kind === 'artifact') return `${downloadPath}artifacts/${target.artifactId}`
  if (target.kind !== 'log') return `${downloadPath}jobs/${target.jobId}/${target.kind}`
  const { jobId, run, streams, format } = target
  const given = new URLSearchParams()
  if (run !== null) given.set('run', String(run))
  given.set(
    'streams',
    logStreams
      .filter((each) => streams.includes(each))
      .join()
      .toLowerCase(),
  )
  given.set('format', format.toLowerCase())
  return `${downloadPath}jobs/${jobId}/log?${given}`
}

/** The reason why a path is refused. */
export interface RefusedTarget {
  status: 400 | 404
  message: string
}

export function parseTarget({ pathname, searchParams }: URL): DownloadTarget | RefusedTarget {
  const [, artifactId] = /^\/download\/artifacts\/(artifact_[0-9a-z]{26})$/.exec(pathname) ?? []
  if (artifactId !== undefined) return { kind: 'artifact', artifactId }
  const [, jobId, kind] = /^\/download\/jobs\/(job_[0-9a-z]{26})\/(log|files|snapshot)$/.exec(pathname) ?? []
  if (jobId === undefined)
    return {
      status: 404,
      message: 'Downloads are at /download/jobs/{id}/log, /download/jobs/{id}/files and /download/artifacts/{id}',
    }
  if (kind === 'files') return { kind, jobId, after: searchParams.get('after') ?? undefined }
  if (kind === 'snapshot') return { kind, jobId }
  const run = searchParams.get('run')
  const streams = searchParams.get('streams')?.toUpperCase().split(',') ?? defaultStreams
  const format = logFormats.find((each) => each === (searchParams.get('format') ?? 'raw').toUpperCase())
  if (run !== null && !(/^\d{1,10}$/.test(run) && Number(run) >= 1 && Number(run) <= runMax))
    return { status: 400, message: '`run` must be the number of a run, from 1' }
  if (!format) return { status: 400, message: '`format` must be raw, plain or jsonl' }
  if (!streams.every((each) => (logStreams as readonly string[]).includes(each)))
    return { status: 400, message: '`streams` must be some of stdout, stderr, system, with commas between them' }
  return { kind: 'log', jobId, run: run === null ? null : Number(run), streams: streams as LogStream[], format }
}
