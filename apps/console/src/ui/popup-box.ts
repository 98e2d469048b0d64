/** The surface of menus and popovers. */
export const popupBox =
  'max-h-[min(var(--available-height),80dvh)] max-w-(--available-width) overflow-auto rounded-lg border border-line-strong bg-panel p-1 text-text shadow-float outline-none'
