import { Dialog, Heading } from 'react-aria-components'
import { LayerFrame } from './layer-frame.tsx'
import { closeLayer, type FormLayer } from './layer-store.ts'
import styles from './layers.module.css'

/** A short form over the page. */
export const FormDialog = ({ title, content }: FormLayer) => (
  <LayerFrame hasInput>
    <Dialog className={styles.dialog ?? ''}>
      <Heading slot="title">{title}</Heading>
      {content(closeLayer)}
    </Dialog>
  </LayerFrame>
)
