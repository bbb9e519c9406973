// SPDX-License-Identifier: Apache-2.0
/**
 * The protocol between two devices of the loopback engine: frames on a socket and the first message
 * of each side. It does not use the engine's objects.
 *
 * <p>Entry class is {@link org.sparkrdma.verbs.soft.wire.Link}. All classes are guarded by the lock
 * of the device; they are public for the engine alone.
 */
package org.sparkrdma.verbs.soft.wire;
