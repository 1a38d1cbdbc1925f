import { Dialog, Heading } from 'react-aria-components'
import { closeLayer, type FormLayer, useLayer } from '../ground/layer-store.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { KeyHelp } from './key-help.tsx'
import { LayerFrame } from './layer-frame.tsx'
import styles from './layers.module.css'
import { Palette } from './palette.tsx'

/** Dialogs over the page. The code is loaded when the first one opens. */
export default function Layers() {
  const layer = useLayer()
  if (layer?.kind === 'CONFIRM') return <ConfirmDialog confirmation={layer.confirmation} />
  if (layer?.kind === 'FORM') return <FormDialog {...layer} />
  if (layer?.kind === 'PALETTE') return <Palette />
  if (layer?.kind === 'KEYS') return <KeyHelp />
  return null
}

/** A short form over the page. */
const FormDialog = ({ title, content }: FormLayer) => (
  <LayerFrame hasInput>
    <Dialog className={styles.dialog ?? ''}>
      <Heading slot="title">{title}</Heading>
      {content(closeLayer)}
    </Dialog>
  </LayerFrame>
)
