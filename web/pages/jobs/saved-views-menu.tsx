import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { JobsSearch } from '../../features/jobs/filter/filter-text.ts'
import {
  deleteView,
  readViewSearch,
  type SavedView,
  saveView,
  useSavedViews,
} from '../../features/jobs/filter/saved-views.ts'
import type { ViewVisibility } from '../../generated/graphql.ts'
import { openLayer } from '../../ground/layer-store.ts'
import { useStart } from '../../ground/server-facts.ts'
import { Button } from '../../parts/button.tsx'
import { CheckField, Form, SelectField, TextField } from '../../parts/form.tsx'
import { MenuButton } from '../../parts/menu-button.tsx'
import { showToast } from '../../parts/toasts.tsx'
import styles from './saved-views.module.css'

const page = '/jobs'

const toText = ({ peek: _, ...search }: JobsSearch) =>
  new URLSearchParams(Object.entries(search).filter((pair): pair is [string, string] => Boolean(pair[1]))).toString()

/** A menu of the saved views, which can also save the current filter as a view. */
export function SavedViewsMenu({ search }: { search: JobsSearch }) {
  const navigate = useNavigate()
  const { views } = useSavedViews()
  const { viewer } = useStart()
  const own = views.filter((view) => view.page === page)
  const maySave = viewer.permissions.includes('VIEW_WRITE')
  if (own.length === 0 && !maySave) return null
  const open = (view: SavedView) => void navigate({ to: page, search: readViewSearch(view) })
  const save = () =>
    openLayer({
      kind: 'FORM',
      title: 'Save view',
      content: (close) => <ViewForm search={toText(search)} onClose={close} />,
    })
  const manage = () =>
    openLayer({ kind: 'FORM', title: 'Saved views', content: (close) => <ViewList onClose={close} /> })
  const items = [
    ...own.map((view) => ({ text: view.name, detail: describeScope(view), run: () => open(view) })),
    ...(maySave ? [{ text: 'Save this view…', run: save }] : []),
    ...(own.some(({ editable }) => editable) ? [{ text: 'Rename or delete…', run: manage }] : []),
  ]
  return <MenuButton label="Views" items={items} />
}

function describeScope({ visibility, team, owner }: SavedView): string {
  if (visibility === 'TEAM') return team?.name ?? 'team'
  return visibility === 'ALL' ? `everyone, by ${owner.name}` : 'you'
}

function ViewForm({ view, search, onClose }: { view?: SavedView; search: string; onClose: () => void }) {
  const { teams } = useSavedViews()
  const { server, viewer } = useStart()
  const [name, setName] = useState(view?.name ?? '')
  const [shared, setShared] = useState(view ? (view.team?.id ?? view.visibility) : 'USER')
  const [pinned, setPinned] = useState(view?.pinned ?? true)
  const submit = async () => {
    const visibility: ViewVisibility = shared === 'USER' || shared === 'ALL' ? shared : 'TEAM'
    const found = await saveView({
      ...(view && { savedViewId: view.id, expectedVersion: view.version }),
      ...(visibility === 'TEAM' && { teamId: shared }),
      name: name.trim(),
      page,
      search,
      visibility,
      pinned,
    })
    if (found) return found
    onClose()
    showToast(`Saved ${name.trim()}`)
    return null
  }
  const canShare = !server.singleUser && (teams.length > 0 || viewer.user.level === 'ADMIN')
  return (
    <Form submitText="Save" onCancel={onClose} onSubmit={submit}>
      <TextField label="Name" path="name" value={name} required maxLength={100} onChange={setName} />
      {canShare && (
        <SelectField
          label="Who sees it"
          path="visibility"
          value={shared}
          options={[
            ['USER', 'Only you'],
            ...teams.map((team) => [team.id, `Team ${team.name}`] as const),
            ...(viewer.user.level === 'ADMIN' ? [['ALL', 'Everyone'] as const] : []),
          ]}
          onChange={setShared}
        />
      )}
      <CheckField text="Show it in the side bar" isChecked={pinned} onChange={setPinned} />
      <p className={styles.search}>
        <code>{search === '' ? 'all jobs' : decodeURIComponent(search)}</code>
      </p>
    </Form>
  )
}

/** Lists the views that the viewer may change. */
function ViewList({ onClose }: { onClose: () => void }) {
  const { views } = useSavedViews()
  const editable = views.filter((view) => view.page === page && view.editable)
  const rename = (view: SavedView) =>
    openLayer({
      kind: 'FORM',
      title: `Change ${view.name}`,
      content: (close) => <ViewForm view={view} search={view.search} onClose={close} />,
    })
  const remove = (view: SavedView) =>
    void deleteView(view).then((found) =>
      showToast(found ? found.message : `Deleted the view ${view.name}`, { isTrouble: found !== null }),
    )
  return (
    <>
      {editable.length === 0 && <p>You have no view to change.</p>}
      <ul className={styles.views}>
        {editable.map((view) => (
          <li key={view.id}>
            <span className={styles.name}>{view.name}</span>
            <small>{describeScope(view)}</small>
            <Button onClick={() => rename(view)}>Change</Button>
            <Button onClick={() => remove(view)}>Delete</Button>
          </li>
        ))}
      </ul>
      <div className={styles.buttons}>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </>
  )
}
