export function openPeer() {}
