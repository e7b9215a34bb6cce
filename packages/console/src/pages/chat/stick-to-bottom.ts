import { useCallback, useEffect, useRef, useState } from 'react';

const nearPx = 40;

/** Keeps an element scrolled to its end while its content grows, unless a person has scrolled away. */
export function useStickToBottom() {
  const container = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const sticks = useRef(true);
  const lastTop = useRef(0);
  const [isAtEnd, setIsAtEnd] = useState(true);
  const toEnd = useCallback(() => {
    const element = container.current;
    if (element === null) return;
    sticks.current = true;
    setIsAtEnd(true);
    element.scrollTop = element.scrollHeight;
  }, []);
  const release = useCallback(() => {
    sticks.current = false;
  }, []);
  const onScroll = useCallback(() => {
    const element = container.current;
    if (element === null) return;
    const { scrollTop, scrollHeight, clientHeight } = element;
    const isNear = scrollHeight - scrollTop - clientHeight < nearPx;
    // only a person scrolls up: content that grows does not
    if (isNear) sticks.current = true;
    else if (scrollTop < lastTop.current) sticks.current = false;
    lastTop.current = scrollTop;
    setIsAtEnd(isNear || sticks.current);
  }, []);
  useEffect(() => {
    const [outer, inner] = [container.current, content.current];
    if (outer === null || inner === null) return undefined;
    const observer = new ResizeObserver(() => {
      if (sticks.current) outer.scrollTop = outer.scrollHeight;
      else setIsAtEnd(outer.scrollHeight - outer.scrollTop - outer.clientHeight < nearPx);
    });
    observer.observe(inner);
    observer.observe(outer);
    return () => observer.disconnect();
  }, []);
  return { container, content, isAtEnd, toEnd, release, onScroll };
}
