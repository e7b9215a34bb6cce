/** The same as the icon of the page, which is in index.html. */
export function Logo() {
  return (
    <svg aria-hidden viewBox="0 0 32 32" className="size-6">
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <path
        d="M9 23V9h8a4.5 4.5 0 0 1 0 9H9m8 0 6 5"
        fill="none"
        stroke="#fff"
        strokeWidth="3"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
