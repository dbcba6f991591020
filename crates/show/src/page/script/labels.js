// Names beside marks: where none covers another, nor a mark that is named.
const AROUND = [
  [1, -1], [1, 1], [1, 0], [-1, -1], [-1, 1], [-1, 0], [0, -1], [0, 1],
  [1, -2], [1, 2], [-1, -2], [-1, 2], [0, -2], [0, 2], [1, -3], [1, 3], [-1, 3], [0, 3], [0, -3], [1, 4], [1, 5], [1, 6],
];

// Marks at one place share a name.
const cut = (name) => (name.length > 36 ? name.slice(0, 35) + "…" : name);
const together = (items) => {
  const groups = [];
  for (const item of items) {
    const near = groups.find((group) => Math.hypot(group.px - item.px, group.py - item.py) < 5);
    if (near) near.names.push(cut(item.name));
    else groups.push({ ...item, names: [cut(item.name)] });
  }
  return groups.map((group) => {
    const [shownNames, more] = [group.names.slice(0, 2), group.names.length - 2];
    return { ...group, text: shownNames.join(", ") + (more > 0 ? ` and ${more} more` : "") };
  });
};

const placed = (items, crowd, [left, right, top, bottom], measure) => {
  const boxes = items.map(({ px, py }) => [px - 7, px + 7, py - 7, py + 7]);
  // Unnamed marks are left free where that is possible.
  const dots = crowd.map(({ px, py }) => [px - 4, px + 4, py - 4, py + 4]);
  const covers = (a, all) => all.some((b) => a[0] < b[1] && a[1] > b[0] && a[2] < b[3] && a[3] > b[2]);
  return together(items).flatMap((item) => {
    const width = measure(item.text);
    const tries = [...AROUND.map((way) => [way, [...boxes, ...dots]]), ...AROUND.map((way) => [way, boxes])];
    for (const [[across, down], taken] of tries) {
      const x = across > 0 ? item.px + 10 : across < 0 ? item.px - 10 - width : item.px - width / 2;
      const y = item.py + 13 * down + (across === 0 ? Math.sign(down) * 2 : 0);
      const box = [x - 2, x + width + 2, y - 8, y + 7];
      if (box[0] < left || box[1] > right || box[2] < top || box[3] > bottom || covers(box, taken)) continue;
      boxes.push(box);
      return [{ ...item, x, y: y + 4, isFar: Math.abs(down) > 1, width }];
    }
    return [];
  });
};

