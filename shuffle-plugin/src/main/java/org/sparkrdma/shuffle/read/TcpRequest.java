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
package org.sparkrdma.shuffle.read;

import java.util.function.Supplier;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.DownloadFileManager;

/**
 * Blocks to be fetched by TCP.
 *
 * @param blocks asked once, when the request's turn has come, for what is wanted by then
 * @param files where blocks go that are too large for memory; null for memory
 */
record TcpRequest(
    PeerAddress peer,
    Supplier<String[]> blocks,
    BlockFetchingListener listener,
    DownloadFileManager files) {}
