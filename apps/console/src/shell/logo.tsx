/** The logo: rows of a rack, one highlighted. */
export function Logo() {
  return (
    <svg viewBox="0 0 20 20" className="size-5 shrink-0" aria-hidden>
      <rect x="1.5" y="2" width="17" height="4.4" rx="1.4" className="fill-line-strong" />
      <rect x="1.5" y="7.8" width="17" height="4.4" rx="1.4" className="fill-accent" />
      <rect x="1.5" y="13.6" width="17" height="4.4" rx="1.4" className="fill-line-strong" />
    </svg>
  )
}
