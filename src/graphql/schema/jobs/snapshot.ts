import { maySee, type Viewer } from '../../../domain/access.ts'
import type { Domain } from '../../../domain/domain.ts'
import { createTicket, ticketSecondsMax } from '../../../domain/download-tickets.ts'
import { type AnnouncedSnapshot, createSnapshot, findSenderOwner } from '../../../domain/snapshots/snapshots.ts'
import { diffCost } from '../../caller-limits.ts'
import { formatUploadTarget, newUploadTarget } from '../../rows/upload-target.ts'
import { builder, known } from '../frame/builder.ts'
import { exposeColumns, objectField } from '../frame/fields.ts'
import { declareMutation } from '../frame/mutation.ts'
import type { SuccessFields } from '../frame/mutation-result.ts'
import { SnapshotRef } from '../frame/refs.ts'
import { ServerInfoRef } from '../server/server-info.ts'

builder.node(SnapshotRef, {
  description:
    'The files of a folder as they were. It is removed when no job has named it for seven days. As visible as the jobs of its user.',
  id: { resolve: (snapshot) => snapshot.id, description: 'Global id, for `node`: snapshot_…' },
  async loadMany(ids, { load, viewer }) {
    const snapshots = await Promise.all(ids.map((id) => load.snapshot.load(id)))
    return snapshots.map((snapshot) => (snapshot && maySee(viewer, snapshot) ? snapshot : null))
  },
  fields: (t) => ({
    ...exposeColumns(t, {
      files: ['Int', 'Number of its files and links.'],
      bytes: ['UInt53', 'Total size of its files.'],
      commit: ['String?', 'Commit of the working tree; null: it is of no git tree.'],
      branch: ['String?', 'Branch of the working tree; null: none.'],
      remote: ['String?', 'URL of the remote of the working tree, without credentials; null: none.'],
      createdAt: ['DateTime', 'When it was created.'],
      completedAt: ['DateTime?', 'When its last file arrived; null: it is incomplete, and no job can name it.'],
    }),
    user: objectField(t, 'userId', 'The user who made it.'),
    hash: t.string({
      description: 'SHA-256 of its list of files, in hexadecimal digits.',
      resolve: ({ hash }) => Buffer.from(hash).toString('hex'),
    }),
    changedFiles: t.exposeInt('changed', {
      nullable: true,
      description: 'Number of files that differ from `commit`; null: it is of no git tree.',
    }),
    diff: t.string({
      nullable: true,
      description: 'Changes of tracked files since `commit`, as text; null: none, or more than 1 MiB.',
      complexity: diffCost,
      resolve: async ({ id }, _args, { load }) => (await load.snapshotDiff.load(id))?.diff ?? null,
    }),
  }),
})

builder.objectFields(ServerInfoRef, (t) => ({
  maxSnapshotBytes: t.field({
    type: 'UInt53',
    authScopes: known,
    description: 'Maximum total size of the files of a snapshot.',
    resolve: ({ snapshotLimits }) => snapshotLimits.bytesMax,
  }),
  maxSnapshotFiles: t.int({
    authScopes: known,
    description: 'Maximum number of files and links of a snapshot.',
    resolve: ({ snapshotLimits }) => snapshotLimits.filesMax,
  }),
}))

interface Created extends AnnouncedSnapshot {
  upload: { url: string; expiresAt: Date } | null
}

/** Converts a viewer with a run token to the run's owner, because a ticket must not depend on that token. */
const toOwner = async (domain: Domain, viewer: Viewer): Promise<Viewer> =>
  viewer.run === null ? viewer : { ...viewer, userId: await findSenderOwner(domain, viewer), token: null }

declareMutation('createSnapshot', {
  description: `Begins a snapshot of a folder, or finds the one with the same list. Its upload begins within ${ticketSecondsMax / 60} minutes.`,
  input: {
    argumentDescription: 'The snapshot.',
    description: 'A list of files; docs/files.md describes its form.',
    fields: (t) => ({
      hash: t.string({ required: true, description: 'SHA-256 of the list, in hexadecimal digits.' }),
      files: t.int({
        required: true,
        description: 'Number of files and links; at most `ServerInfo.maxSnapshotFiles`.',
      }),
      bytes: t.field({
        type: 'UInt53',
        required: true,
        description: 'Total size of the files; at most `ServerInfo.maxSnapshotBytes`.',
      }),
    }),
  },
  success: {
    description: 'The snapshot, and how its files are sent.',
    fields: (t: SuccessFields<Created>) => ({
      snapshot: objectField(t, 'id', 'The snapshot; an earlier one if you have sent the same list before.', 'snapshot'),
      uploadUrl: t.string({
        nullable: true,
        description:
          'The address below that of the server to which the list is sent once, by PUT. The answer has the next address, for the missing contents. Keep it secret. null: the snapshot is complete.',
        resolve: ({ upload }) => upload?.url,
      }),
      expiresAt: t.field({
        type: 'DateTime',
        nullable: true,
        description: 'Until when the upload may begin; null: the snapshot is complete.',
        resolve: ({ upload }) => upload?.expiresAt,
      }),
    }),
  },
  async resolve(input, { domain, viewer, facts }) {
    const created = await createSnapshot(domain, viewer, input, facts.snapshotLimits)
    if (created.isComplete) return { ...created, upload: null }
    const path = formatUploadTarget(newUploadTarget(created.id, 'list'))
    const { ticket, expiresAt } = await createTicket(domain, await toOwner(domain, viewer), path)
    return { ...created, upload: { url: `${path}?ticket=${ticket}`, expiresAt } }
  },
})
