import type { ReactNode } from 'react'
import { Modal, ModalOverlay } from 'react-aria-components'
import { closeLayer } from '../ground/layer-store.ts'
import styles from './layers.module.css'

/** Closes on Escape and, if it has no input to lose, on a click outside. Then the focus returns to the former element. */
export function LayerFrame({ hasInput = false, children }: { hasInput?: boolean; children: ReactNode }) {
  return (
    <ModalOverlay
      isOpen
      isDismissable={!hasInput}
      className={styles.backdrop ?? ''}
      onOpenChange={(isOpen) => {
        if (!isOpen) closeLayer()
      }}
    >
      <Modal className={styles.panel ?? ''}>{children}</Modal>
    </ModalOverlay>
  )
}
