import { Dialog, Heading } from 'react-aria-components'
import { closeLayer, type FormLayer } from '../ground/layer-store.ts'
import { LayerFrame } from './layer-frame.tsx'
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
