import { lazy, Suspense, useState } from 'react'
import { loadPart } from '../ground/load-part.ts'
import { Button, buttonClasses } from './button.tsx'
import type { MenuProps } from './menu.tsx'

const LoadedMenu = lazy(() => loadPart(() => import('./menu.tsx')))

/** A button with a menu. The first click loads the code of the menu. */
export function MenuButton({ look = 'plain', ...props }: MenuProps & { look?: 'plain' | 'quiet' }) {
  const [isWanted, setWanted] = useState(false)
  const button = (
    <Button look={look} aria-haspopup="menu" onClick={() => setWanted(true)}>
      {props.label}
    </Button>
  )
  if (!isWanted) return button
  return (
    <Suspense fallback={button}>
      <LoadedMenu {...props} className={buttonClasses(look)} />
    </Suspense>
  )
}
