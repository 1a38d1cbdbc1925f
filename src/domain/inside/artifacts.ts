import { hash as digest } from 'node:crypto'
import { z } from 'zod'
import { createSerial } from '../../platform/serial.ts'
import type { Tx } from '../../platform/tx.ts'
import type { RunIdentity, Viewer } from '../access.ts'
import type { Domain } from '../domain.ts'
import { InvalidInput } from '../errors.ts'
import { newId } from '../ids.ts'
import { jobChangeSql } from '../jobs/job-change.ts'
import { parseInput } from '../parse.ts'
import { findPathTrouble, isFile, type ListedFile } from '../snapshots/file-list.ts'
import { readSnapshotEntries } from '../snapshots/snapshots.ts'
import { aliveRunSql, makeRunIsOverError } from './alive-run.ts'
import { demandRun } from './run-tokens.ts'

/**
 * Artifacts: links, small texts and files that a run publishes. The content of a file is sent before, as a snapshot of
 * one file. Artifacts are immutable: publishing the same content again returns the same artifact, and other content
 * under the same name creates another one. Each publication locks the row of its run, so a run publishes one after the
 * other; otherwise a thousand publications would occupy all database connections.
 */

export const artifactBodyBytesMax = 64 * 1024
export const artifactMetadataBytesMax = 16 * 1024
const artifactsPerRunMax = 1_000
const uriCharactersMax = 2_048

const token = "[\\w!#$%&'*+.^`|~-]+"
const mediaTypeForm = new RegExp(`^${token}/${token}( *; *${token}=(${token}|"[^"\\p{Cc}]*"))*$`, 'u')
/** Links with these schemes are refused, because a browser would execute their content. */
const executedSchemes = /^(javascript|vbscript|data):/i

const bytes = (text: string) => Buffer.byteLength(text)
const number = (value: number) => value.toLocaleString('en-US')

const publication = z
  .strictObject({
    name: z.string().regex(/^\P{Cc}{1,255}$/u, 'must have 1 … 255 characters, none of them a control character'),
    mediaType: z
      .string()
      .max(255, 'must have at most 255 characters')
      .regex(mediaTypeForm, 'must be a media type, such as text/plain'),
    uri: z
      .string()
      .max(uriCharactersMax, `must have at most ${number(uriCharactersMax)} characters`)
      .regex(
        /^[a-z][a-z0-9+.-]*:[^\s\p{Cc}\p{Cf}]+$/iu,
        'must be an absolute URI without white space and invisible characters',
      )
      .refine((uri) => !executedSchemes.test(uri), 'must not be a javascript:, vbscript: or data: URI')
      .nullish(),
    body: z
      .string()
      .refine((text) => bytes(text) <= artifactBodyBytesMax, {
        error: ({ input }) =>
          `must have at most ${number(artifactBodyBytesMax)} bytes, not ${number(bytes(String(input)))}; publish a uri instead`,
      })
      .nullish(),
    snapshotId: z.string().max(64, 'must have at most 64 characters').nullish(),
    metadata: z
      .record(z.string(), z.unknown())
      .refine((value) => bytes(JSON.stringify(value)) <= artifactMetadataBytesMax, {
        error: ({ input }) =>
          `must have at most ${number(artifactMetadataBytesMax)} bytes as JSON, not ${number(bytes(JSON.stringify(input)))}`,
      })
      .nullish(),
  })
  .refine(({ uri, body, snapshotId }) => [uri, body, snapshotId].filter((each) => each != null).length === 1, {
    path: ['uri'],
    error: 'give either uri, body or snapshotId',
  })

type Publication = z.infer<typeof publication>

const serial = createSerial()

export async function publishArtifact(domain: Domain, viewer: Viewer, raw: unknown): Promise<string> {
  const run = demandRun(viewer)
  const given = parseInput(publication, raw)
  const id = newId('artifact', domain.time.nowMs())
  const kept = await serial.run(run.runId, () => domain.db.locking((tx) => keepArtifact(tx, id, run, given)))
  if (kept === id) domain.wakeups.poke('event')
  return kept
}

/** Returns the id of the artifact with this content, which may be an earlier one. */
async function keepArtifact(tx: Tx, id: string, run: RunIdentity, given: Publication): Promise<string> {
  const { artifact } = tx.prisma
  const { runId, jobId, number: runNumber } = run
  const { name, mediaType, uri = null, body = null, metadata = null, snapshotId = null } = given
  const alive = await tx.query(aliveRunSql('= $1'), [runId], 'lock_alive_run')
  if (alive.length === 0) throw makeRunIsOverError()
  const file = snapshotId === null ? null : await readPublishedFile(tx, jobId, { name, snapshotId })
  const hash = Uint8Array.from(
    digest('sha256', JSON.stringify([name, mediaType, uri, body, metadata, ...(file ? [file.sha256] : [])]), 'buffer'),
  )
  const known = await artifact.findUnique({ where: { runId_hash: { runId, hash } }, select: { id: true } })
  if (known) return known.id
  if ((await artifact.count({ where: { runId } })) >= artifactsPerRunMax) throw tooMany()
  const [told] = await tx.query<{ version: number }>(
    `WITH ${publishedSql} SELECT version FROM changed`,
    [jobId, runNumber, `Published ${name}`, JSON.stringify({ artifactId: id, name, mediaType })],
    'artifact_published',
  )
  if (!told) throw makeRunIsOverError()
  const sizeBytes = file?.size ?? (body === null ? null : bytes(body))
  const sha256 = file && Uint8Array.from(Buffer.from(file.sha256, 'hex'))
  const data = {
    snapshotId,
    sha256,
    id,
    jobId,
    seq: told.version,
    runId,
    run: runNumber,
    name,
    mediaType,
    uri,
    body,
    sizeBytes,
    hash,
  }
  await artifact.create({ data: { ...data, ...(metadata && { metadata: metadata as object }) } })
  return id
}

/** Reads the only file of a snapshot of the job's user. The artifact keeps the snapshot. */
async function readPublishedFile(
  tx: Tx,
  jobId: string,
  { name, snapshotId }: { name: string; snapshotId: string },
): Promise<ListedFile> {
  const refuse = (field: string, message: string) => InvalidInput.at(field, message)
  const trouble = findPathTrouble(name)
  if (trouble !== null) throw refuse('name', `${JSON.stringify(name)} ${trouble}`)
  const [owner] = await tx.query<{ userId: string; files: number }>(
    `SELECT s.user_id AS "userId", s.files FROM snapshot s JOIN job j ON j.user_id = s.user_id
     WHERE s.id = $1 AND j.id = $2 AND s.completed_at IS NOT NULL FOR KEY SHARE OF s`,
    [snapshotId, jobId],
    'published_snapshot',
  )
  if (!owner) throw refuse('snapshotId', `Snapshot ${snapshotId} not found, or incomplete`)
  // A snapshot with several files is refused without reading the list of files, which may be large.
  const [file] = owner.files === 1 ? await readSnapshotEntries(tx, { snapshotId, ...owner }) : []
  if (!file || !isFile(file)) throw refuse('snapshotId', 'The snapshot must have one file alone')
  return file
}

const publishedSql = jobChangeSql({
  jobs: 'WHERE job.id = $1',
  type: 'ARTIFACT_PUBLISHED',
  event: { run: '$2::int', message: '$3::text', metadata: '$4::text::jsonb' },
})

const tooMany = () =>
  InvalidInput.at('name', `A run can publish at most ${number(artifactsPerRunMax)} artifacts; publish an index of them`)
