// A canvas that is as large as its place, at the resolution of the screen.

export class Canvas {
  readonly element = document.createElement("canvas");
  readonly context: CanvasRenderingContext2D;
  width = 0;
  private readonly observer: ResizeObserver;

  constructor(
    place: HTMLElement,
    readonly height: number,
    resized: () => void,
  ) {
    const context = this.element.getContext("2d");
    if (!context) throw new Error("this browser has no canvas");
    this.context = context;
    this.element.setAttribute("aria-hidden", "true");
    place.replaceChildren(this.element);
    this.observer = new ResizeObserver(() => {
      this.fit(place);
      resized();
    });
    this.observer.observe(place);
    this.fit(place);
  }

  remove() {
    this.observer.disconnect();
    this.element.remove();
  }

  private fit(place: HTMLElement) {
    const ratio = devicePixelRatio || 1;
    this.width = place.clientWidth;
    this.element.width = Math.round(this.width * ratio);
    this.element.height = Math.round(this.height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }
}
