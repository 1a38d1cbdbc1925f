import { NotFound, VersionConflict } from '../../../domain/errors.ts'
import { deleteView, listViewIds, mayEditView, saveView, viewsListedMax } from '../../../domain/people/saved-views.ts'
import { viewSearchCost } from '../../caller-limits.ts'
import { builder } from '../frame/builder.ts'
import { describeValues } from '../frame/enum-values.ts'
import { expectedVersion, exposeColumns, objectField, objectFieldOrNull, versionField } from '../frame/fields.ts'
import { declareDeleteMutation, declareMutation } from '../frame/mutation.ts'
import type { SuccessFields } from '../frame/mutation-result.ts'
import { requireRow } from '../frame/problem.ts'
import { SavedViewRef } from '../frame/refs.ts'

const ViewVisibility = builder.enumType('ViewVisibility', {
  description: 'Who sees a saved view.',
  values: describeValues({
    USER: 'The user who saved the view.',
    TEAM: 'The members of a team.',
    ALL: 'Every user; only an ADMIN saves such a view.',
  }),
})

builder.node(SavedViewRef, {
  description: 'A page of the web console with its filters, saved under a name.',
  id: { resolve: ({ id }) => id, description: 'Global id, for `node`: view_…' },
  async loadMany(ids, { load, viewer }) {
    const teams = (await load.teamsOfUser.load(viewer.userId)).map(({ teamId }) => teamId)
    const views = await load.savedView.loadMany(ids)
    return views.map((view) =>
      view &&
      !(view instanceof Error) &&
      (view.ownerId === viewer.userId || view.scope === 'ALL' || teams.includes(view.teamId ?? ''))
        ? view
        : null,
    )
  },
  fields: (t) => ({
    ...exposeColumns(t, {
      name: ['String', 'Name in menus.'],
      page: ['String', 'Path of the page, such as /jobs.'],
      pinned: ['Boolean', 'Whether menus show the view without being opened.'],
    }),
    search: t.exposeString('search', {
      description: 'Query string of the page, without the question mark.',
      complexity: viewSearchCost,
    }),
    visibility: t.expose('scope', { type: ViewVisibility, description: 'Who sees the view.' }),
    team: objectFieldOrNull(t, 'teamId', 'The team whose members see the view; null: `visibility` is not TEAM.'),
    owner: objectField(t, 'ownerId', 'The user who saved the view.', 'user'),
    version: t.expose('version', versionField),
    editable: t.boolean({
      description: 'Whether you may change and delete the view.',
      resolve: (view, _args, { viewer }) => mayEditView(viewer, view),
    }),
  }),
})

builder.queryField('savedViews', (t) =>
  t.field({
    type: [SavedViewRef],
    description: `Your saved views, those of your teams and those for everyone: pinned ones first, then by name; at most ${viewsListedMax}.`,
    args: { page: t.arg.string({ description: 'Only views of the page with this path.' }) },
    complexity: { field: 1, multiplier: viewsListedMax },
    async resolve(_root, { page }, { domain, load, viewer }) {
      const ids = await listViewIds(domain.db.sql, viewer, page ?? null)
      return Promise.all(ids.map((id) => requireRow(load.savedView.load(id))))
    },
  }),
)

declareMutation('saveView', {
  description: 'Saves a page with its filters under a name. A user has at most 100 views.',
  input: {
    argumentDescription: 'The view.',
    description: 'A view to save.',
    fields: (t) => ({
      savedViewId: t.id({ description: 'The view to replace; omitted: a new view.' }),
      name: t.string({ required: true, description: 'Name, at most 100 characters.' }),
      page: t.string({ required: true, description: 'Path of the page, such as /jobs.' }),
      search: t.string({
        required: true,
        description: 'Query string of the page without the question mark, at most 2,048 characters.',
      }),
      visibility: t.field({ type: ViewVisibility, defaultValue: 'USER', description: 'Who sees the view.' }),
      teamId: t.id({ description: 'The team whose members see the view, with the visibility TEAM: one of yours.' }),
      pinned: t.boolean({ defaultValue: false, description: 'Whether menus show the view without being opened.' }),
      expectedVersion: t.field(expectedVersion('view')),
    }),
  },
  success: {
    description: 'The view was saved.',
    fields: (t: SuccessFields) => ({
      savedView: objectField(t, 'id', 'The view as stored.', 'savedView'),
    }),
  },
  problems: [NotFound, VersionConflict],
  resolve: ({ savedViewId: id, ...view }, { domain, viewer }) => saveView(domain, viewer, { id, ...view }),
})

declareDeleteMutation('deleteView', {
  noun: 'view',
  description: 'Deletes a saved view.',
  idField: 'savedViewId',
  inputDescription: 'The saved view to delete.',
  remove: deleteView,
})
