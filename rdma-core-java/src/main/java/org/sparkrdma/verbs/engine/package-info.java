/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
/**
 * What the engines over real devices do alike, and in part the loopback engine: the places of
 * posted work, the completion that is shown, tables and lists of queue pairs, what a device's
 * limits forbid. It stands between the API and the engines: only engines use it, and it knows none
 * of them.
 *
 * <p>Entry class is {@link org.sparkrdma.verbs.engine.DeviceQueuePair}. Classes are public for the
 * engines' packages alone. Threads are those of the engine's object that holds one.
 */
package org.sparkrdma.verbs.engine;
