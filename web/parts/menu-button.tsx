import { lazy, Suspense, useState } from 'react'
import { loadPart } from '../app/load-part.ts'
import type { MenuProps } from '../layers/menu.tsx'
import { Button, buttonClasses } from './button.tsx'

const LoadedMenu = lazy(() => loadPart(() => import('../layers/menu.tsx')))

/** A button with a menu, whose code is loaded by the first click. */
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
