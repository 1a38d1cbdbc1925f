import type { ReactNode } from 'react'
import { Modal, ModalOverlay } from 'react-aria-components'
import { closeLayer } from './layer-store.ts'
import styles from './layers.module.css'

/** Closes with Escape and with a click beside it; the focus returns to where it was. */
export function LayerFrame({ children }: { children: ReactNode }) {
  return (
    <ModalOverlay
      isOpen
      isDismissable
      className={styles.backdrop ?? ''}
      onOpenChange={(isOpen) => {
        if (!isOpen) closeLayer()
      }}
    >
      <Modal className={styles.panel ?? ''}>{children}</Modal>
    </ModalOverlay>
  )
}
