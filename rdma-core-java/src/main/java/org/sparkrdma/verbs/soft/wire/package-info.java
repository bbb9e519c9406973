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
 * The protocol between two devices of the loopback engine: frames on a socket and the first message
 * of each side. It knows nothing of the engine's objects.
 *
 * <p>Entry class is {@link org.sparkrdma.verbs.soft.wire.Link}. All classes are confined to the
 * device thread; they are public for the engine alone.
 */
package org.sparkrdma.verbs.soft.wire;
