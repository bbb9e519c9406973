// SPDX-License-Identifier: Apache-2.0
/**
 * The core that all engines extend: the objects of a device and the order in which they are closed,
 * the phases of a connection, the state of a queue pair with the checks of what is posted, posted
 * work and its flushing, and the table of drivers that deviate from their specification. An engine
 * extends the {@code Engine…} classes with its own calls.
 *
 * <p>Entry class is {@link org.sparkrdma.verbs.engine.EngineDevice}. Classes are public for the
 * engines' packages alone and use no engine. Threads are those of the engine.
 */
package org.sparkrdma.verbs.engine;
