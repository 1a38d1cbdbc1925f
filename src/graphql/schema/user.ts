import { builder } from '../builder.ts'
import { UserRef } from '../refs.ts'
import { UserLevel } from './enums.ts'

builder.node(UserRef, {
  description: 'A person. In single-user mode there is one: `local`.',
  id: { resolve: (user) => user.id, description: 'user_…' },
  loadMany: async (ids, { load, viewer }) =>
    Promise.all(
      ids.map((id) => (id === viewer.userId || viewer.permissions.has('job.view.all') ? load.user.load(id) : null)),
    ),
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Log-in name, unique.' }),
    displayName: t.exposeString('displayName', { nullable: true, description: 'Name to show, where it differs.' }),
    email: t.exposeString('email', { nullable: true, description: 'Mail address, if known.' }),
    level: t.expose('level', { type: UserLevel, description: 'Decides base priority and permissions.' }),
    disabled: t.exposeBoolean('disabled', { description: 'Whether the person cannot log in; jobs go on.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the person became known.' }),
    unixUser: t.exposeString('unixUser', {
      nullable: true,
      description: "Account of the machine that their jobs run as; null: the server's own.",
    }),
  }),
})
