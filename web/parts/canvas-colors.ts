import { useMemo } from 'react'
import { useMedia } from '../ground/media.ts'
import { useSettings } from '../ground/settings.ts'

function useIsDark(): boolean {
  const { theme } = useSettings()
  const isSystemDark = useMedia('(prefers-color-scheme: dark)')
  return theme === 'SYSTEM' ? isSystemDark : theme === 'DARK'
}

/** Resolves CSS colours of the theme for a canvas, which supports neither custom properties nor `light-dark()`. */
export function useCanvasColors<const Name extends string>(expressions: Readonly<Record<Name, string>>) {
  const isDark = useIsDark()
  const key = JSON.stringify(expressions)
  return useMemo(() => readColors(JSON.parse(key) as Record<Name, string>), [key, isDark])
}

function readColors<Name extends string>(expressions: Record<Name, string>): Record<Name, string> {
  const probe = document.createElement('span')
  document.body.append(probe)
  const entries = Object.entries<string>(expressions).map(([name, expression]) => {
    probe.style.color = ''
    probe.style.color = expression
    return [name, getComputedStyle(probe).color]
  })
  probe.remove()
  return Object.fromEntries(entries) as Record<Name, string>
}
