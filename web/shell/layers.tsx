import { useLayer } from '../ground/layer-store.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { FormDialog } from './form-dialog.tsx'
import { KeyHelp } from './key-help.tsx'
import { Palette } from './palette.tsx'

/** Everything that lies over the page; loaded with the first of them. */
export default function Layers() {
  const layer = useLayer()
  if (layer?.kind === 'CONFIRM') return <ConfirmDialog confirmation={layer.confirmation} />
  if (layer?.kind === 'FORM') return <FormDialog {...layer} />
  if (layer?.kind === 'PALETTE') return <Palette />
  if (layer?.kind === 'KEYS') return <KeyHelp />
  return null
}
