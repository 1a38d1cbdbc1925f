import { Link } from '@tanstack/react-router'
import { Bookmark } from 'lucide-react'
import { readViewSearch, useSavedViews } from '../features/jobs/filter/saved-views.ts'
import styles from './side-bar.module.css'

export function ViewLinks() {
  const pinned = useSavedViews().views.filter((view) => view.pinned)
  if (pinned.length === 0) return null
  return (
    <>
      <h2 className={styles.heading}>Views</h2>
      {pinned.map((view) => (
        <Link
          key={view.id}
          to={view.page}
          search={readViewSearch(view)}
          className={styles.link}
          activeOptions={{ exact: true, includeSearch: true }}
        >
          <Bookmark size={16} />
          <span className={styles.viewName}>{view.name}</span>
        </Link>
      ))}
    </>
  )
}
