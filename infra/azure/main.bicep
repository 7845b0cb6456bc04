// The example shop on Azure: a queue of orders, the function that reads it, the queue that it tells of orders that are placed, and the
// error queue for the orders it gives up.
// Deploy with `az deployment group create`, see docs/deploy/azure.md; `tests/infra/azure` holds each rule that a comment here states.
targetScope = 'resourceGroup'

// ---- The ladder. A message gets (immediate + 1) × (delayed + 1) attempts: 24 as it stands. ----
@description('Retries without delay in each round.')
@minValue(0)
@maxValue(20) // the queue's maxDeliveryCount must stay at least 6 above it
param immediateRetries int = 5

@description('Rounds that start after a delay.')
@minValue(0)
@maxValue(20)
param delayedRetries int = 3

@description('The n-th delay is n times this many seconds.')
@minValue(1)
@maxValue(3600)
param timeIncreaseSeconds int = 10

// ---- The rate limit: off as it stands. ----
@description('After so many failures in a row on one instance one order is attempted at a time until one succeeds, and the others wait without losing an attempt; 0 for no limit. Choose more than the attempts of one order in one round.')
@minValue(0)
@maxValue(10000) // RateLimit(consecutive_failures) takes no more
param rateLimitAfter int = 0

@description('For how many minutes the rate may be limited before an alert says so.')
@allowed([10, 15, 30]) // an alert looks back at 6 periods at most, and each is of 5 minutes
param rateLimitedAlertMinutes int = 15

// ---- Dead letters of Service Bus's own: in the error queue they have no fault headers as it stands. ----
@description('Whether an order that Service Bus itself gives up is in the error queue as ServiceControl can import it, with the queue where it died and the reason; a function and a dead-letter queue between the two queues do that.')
param stampDeadLetters bool = false

// ---- The namespace. ----
@description('The tier of Service Bus; it cannot be changed later. Premium has messaging units of its own and takes larger messages.')
@allowed(['Standard', 'Premium']) // Basic has neither scheduled messages nor forwarding
param serviceBusTier string = 'Standard'

@description('Messaging units; Premium only.')
@allowed([1, 2, 4, 8, 16])
param messagingUnits int = 1

@description('The largest message in KB; Premium only, for Standard has 256.')
@minValue(1024)
@maxValue(102400)
param maxMessageKilobytes int = 1024

@description('A topic whose subscription forwards to the queue of orders; empty for none. No queue may have its name.')
@maxLength(260)
param topicName string = 'shop-events'

// ---- The function and how it is fed. ----
@description('Where everything is.')
param location string = resourceGroup().location

@description('What the names begin with: a lower-case letter, then lower-case letters and digits. Those that must be unique in the world end with a hash of the resource group.')
@minLength(2)
@maxLength(8)
param name string = 'shop'

@description('The Python that the function runs on. What `az functionapp list-flexconsumption-runtimes --runtime python` lists is there.')
@allowed(['3.11', '3.12', '3.13', '3.14'])
param pythonVersion string = '3.13'

@description('Memory of an instance in MB; processors come with it.')
@allowed([512, 2048, 4096])
param instanceMemory int = 2048

@description('The most instances. Each runs as many messages at a time as host.json says.')
@minValue(40)
@maxValue(1000)
param maximumInstances int = 40

@description('The resource id of the action group that hears the alerts; empty for alerts that nobody hears, which then say so.')
param actionGroupId string = ''

// Bicep has no patterns for parameters: a name that could not be deployed is refused here, before anything is made.
var letters = 'abcdefghijklmnopqrstuvwxyz'
var strangers = filter(range(0, length(name)), place => !contains('${letters}0123456789', substring(name, place, 1)))
var isPrefix = empty(strangers) && contains(letters, substring(name, 0, 1))
var prefix = isPrefix ? name : fail('name: write a lower-case letter, then lower-case letters and digits, for a storage account takes no others')
var isQueue = contains(['orders', 'orders-dead', 'orders-error', 'orders-placed'], toLower(topicName))
var topic = isQueue ? fail('topicName: a queue has this name; write another') : empty(topicName) ? 'none' : topicName

var lockDuration = 'PT1M' // 5 minutes at most

var unique = '${prefix}-${uniqueString(resourceGroup().id)}'
var premium = serviceBusTier == 'Premium'
var heardBy = empty(actionGroupId) ? [] : [{ actionGroupId: actionGroupId }]
var unheard = empty(actionGroupId) ? ' NOBODY IS NOTIFIED: deploy again with actionGroupId.' : ''

// Azure built-in roles, by their ids.
var serviceBusDataReceiver = subscriptionResourceId('Microsoft.Authorization/roleDefinitions', '4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0')
var serviceBusDataSender = subscriptionResourceId('Microsoft.Authorization/roleDefinitions', '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39')
var storageBlobDataOwner = subscriptionResourceId('Microsoft.Authorization/roleDefinitions', 'b7e6dc6d-f1e8-4753-8033-0f276bb0955b')
var storageTableDataContributor = subscriptionResourceId('Microsoft.Authorization/roleDefinitions', '0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3')
var monitoringMetricsPublisher = subscriptionResourceId('Microsoft.Authorization/roleDefinitions', '3913510d-42f4-4e42-8a64-420c390055eb')

// ---- Queues. ----
resource serviceBus 'Microsoft.ServiceBus/namespaces@2026-01-01' = {
  name: unique
  location: location
  sku: { name: serviceBusTier, tier: serviceBusTier, capacity: premium ? messagingUnits : null }
  properties: {
    disableLocalAuth: true // identities only: there is no key to leak
    minimumTlsVersion: '1.2'
  }
}

resource errorQueue 'Microsoft.ServiceBus/namespaces/queues@2026-01-01' = {
  parent: serviceBus
  name: 'orders-error'
  properties: {
    lockDuration: 'PT5M' // an operator looks longer than a function does
    maxDeliveryCount: 2000 // the most there is: nothing leaves this queue for having been looked at
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S' // for ever
    // A dead letter with a time to live of its own lives no longer than that here too: it is then among this queue's dead letters, not lost.
    deadLetteringOnMessageExpiration: true
    // What Service Bus itself moves here keeps its message id. Sent back, and dead again within the window, it would pass for a duplicate and be lost.
    requiresDuplicateDetection: false
    maxMessageSizeInKilobytes: premium ? 102400 : null // the most there is: what is given up has fault headers too
  }
}

// Where Service Bus puts an order that it gives up itself, until the stamp sends it on.
resource deadLetterQueue 'Microsoft.ServiceBus/namespaces/queues@2026-01-01' = if (stampDeadLetters) {
  parent: serviceBus
  name: 'orders-dead'
  properties: {
    lockDuration: lockDuration
    maxDeliveryCount: 100
    forwardDeadLetteredMessagesTo: errorQueue.name // what cannot be stamped goes on as it is
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S'
    deadLetteringOnMessageExpiration: true
    requiresDuplicateDetection: false // as of the error queue
    maxMessageSizeInKilobytes: premium ? maxMessageKilobytes : null
  }
}

resource ordersQueue 'Microsoft.ServiceBus/namespaces/queues@2026-01-01' = {
  parent: serviceBus
  name: 'orders'
  properties: {
    lockDuration: lockDuration // an order whose function died is free again after it; the host renews the locks of those that run
    // The ladder moves a message long before this. It is for what never reaches our code, such as a function that cannot be loaded.
    maxDeliveryCount: 100
    forwardDeadLetteredMessagesTo: stampDeadLetters ? deadLetterQueue.name : errorQueue.name
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S' // for ever: a function that is broken for a long weekend loses nothing
    deadLetteringOnMessageExpiration: true // an order with a time to live of its own that nobody read in time is one to hear of
    // A copy made anew, because the answer to its sending was lost, is taken once. The window spans functionTimeout and a lock, after which it is made anew.
    requiresDuplicateDetection: true
    duplicateDetectionHistoryTimeWindow: 'PT10M'
    maxMessageSizeInKilobytes: premium ? maxMessageKilobytes : null
  }
}

// What the function sends: a message for each order that is placed, for whoever delivers the goods.
resource placedQueue 'Microsoft.ServiceBus/namespaces/queues@2026-01-01' = {
  parent: serviceBus
  name: 'orders-placed'
  properties: {
    // While nobody reads it, it must not fill up: a full queue takes nothing more, and then no order can be placed.
    defaultMessageTimeToLive: 'P14D'
    // An order whose function died between sending and completing is placed again, and sends under the same id: that is taken once.
    requiresDuplicateDetection: true
    duplicateDetectionHistoryTimeWindow: 'PT10M'
    maxMessageSizeInKilobytes: premium ? maxMessageKilobytes : null
  }
}

// Events: who publishes knows the topic alone, and the function reads its one queue, so that a retry reaches nobody else.
resource eventsTopic 'Microsoft.ServiceBus/namespaces/topics@2026-01-01' = if (!empty(topicName)) {
  parent: serviceBus
  name: topic
  properties: {
    defaultMessageTimeToLive: 'P10675199DT2H48M5.4775807S'
    maxMessageSizeInKilobytes: premium ? maxMessageKilobytes : null
  }
}

resource ordersSubscription 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2026-01-01' = if (!empty(topicName)) {
  parent: eventsTopic
  name: 'orders'
  properties: {
    forwardTo: ordersQueue.name
    forwardDeadLetteredMessagesTo: stampDeadLetters ? deadLetterQueue.name : errorQueue.name
    maxDeliveryCount: 100
    deadLetteringOnFilterEvaluationExceptions: true
    deadLetteringOnMessageExpiration: true
  }
}

// ---- The function. ----
resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: unique
  location: location
}

resource storage 'Microsoft.Storage/storageAccounts@2026-06-01' = {
  name: '${prefix}${uniqueString(resourceGroup().id)}'
  location: location
  kind: 'StorageV2'
  sku: { name: 'Standard_LRS' }
  properties: {
    allowSharedKeyAccess: false // identities only
    allowBlobPublicAccess: false
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
  }
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2026-06-01' = {
  parent: storage
  name: 'default'
}

resource packages 'Microsoft.Storage/storageAccounts/blobServices/containers@2026-06-01' = {
  parent: blobs
  name: 'packages' // what `func` publishes
}

resource tables 'Microsoft.Storage/storageAccounts/tableServices@2026-06-01' = if (rateLimitAfter > 0) {
  parent: storage
  name: 'default'
}

resource circuits 'Microsoft.Storage/storageAccounts/tableServices/tables@2026-06-01' = if (rateLimitAfter > 0) {
  parent: tables
  name: 'circuits' // what the instances share while the rate is limited
}

resource plan 'Microsoft.Web/serverfarms@2025-03-01' = {
  name: unique
  location: location
  kind: 'functionapp'
  sku: { name: 'FC1', tier: 'FlexConsumption' }
  properties: { reserved: true } // Linux
}

resource functionApp 'Microsoft.Web/sites@2025-03-01' = {
  name: unique
  location: location
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: { '${identity.id}': {} }
  }
  properties: {
    serverFarmId: plan.id
    httpsOnly: true
    functionAppConfig: {
      deployment: {
        storage: {
          type: 'blobContainer'
          value: '${storage.properties.primaryEndpoints.blob}${packages.name}'
          authentication: {
            type: 'UserAssignedIdentity'
            userAssignedIdentityResourceId: identity.id
          }
        }
      }
      runtime: { name: 'python', version: pythonVersion }
      scaleAndConcurrency: {
        instanceMemoryMB: instanceMemory
        maximumInstanceCount: maximumInstances
      }
    }
  }
  dependsOn: [mayOwnBlobs] // without which the first deployment finds its container closed
}

resource settings 'Microsoft.Web/sites/config@2025-03-01' = {
  parent: functionApp
  name: 'appsettings'
  properties: {
    // The connection `ServiceBus`, which the host and the endpoint read alike.
    ServiceBus__fullyQualifiedNamespace: '${serviceBus.name}.servicebus.windows.net'
    ServiceBus__credential: 'managedidentity'
    ServiceBus__clientId: identity.properties.clientId
    RECOVERABLE_ERROR_QUEUE: errorQueue.name
    RECOVERABLE_LOCK_DURATION: lockDuration // read by endpoints of batches, whose locks the host does not renew
    RECOVERABLE_IMMEDIATE_RETRIES: string(immediateRetries)
    RECOVERABLE_DELAYED_RETRIES: string(delayedRetries)
    RECOVERABLE_TIME_INCREASE: '${timeIncreaseSeconds}s'
    RECOVERABLE_RATE_LIMIT_AFTER: string(rateLimitAfter)
    PLACED_QUEUE: placedQueue.name
    DEAD_LETTER_QUEUE: stampDeadLetters ? deadLetterQueue.name : ''
    // As many threads as host.json lets messages run at a time; one that waits for a thread uses up its functionTimeout.
    PYTHON_THREADPOOL_THREAD_COUNT: '16'
    AzureWebJobsStorage__accountName: storage.name
    AzureWebJobsStorage__credential: 'managedidentity'
    AzureWebJobsStorage__clientId: identity.properties.clientId
    APPLICATIONINSIGHTS_CONNECTION_STRING: insights.properties.ConnectionString
    APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'ClientId=${identity.properties.clientId};Authorization=AAD'
  }
  dependsOn: [mayReceiveOrders, mayReceiveDeadLetters, maySendOrders, maySendErrors, maySendPlaced, mayUseCircuits, mayPublishMetrics] // the app starts anew with these settings, and then needs them
}

// ---- What the function may do, and no more: each role on the one entity that it is for. ----
resource mayReceiveOrders 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(ordersQueue.id, identity.id, serviceBusDataReceiver)
  scope: ordersQueue
  properties: {
    description: 'The host receives orders, completes and abandons them, renews their locks.'
    principalId: identity.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: serviceBusDataReceiver
  }
}

resource mayReceiveDeadLetters 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (stampDeadLetters) {
  name: guid(deadLetterQueue.id, identity.id, serviceBusDataReceiver)
  scope: deadLetterQueue
  properties: {
    description: 'The host receives the orders that Service Bus gave up, and completes them.'
    principalId: identity.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: serviceBusDataReceiver
  }
}

resource maySendOrders 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(ordersQueue.id, identity.id, serviceBusDataSender)
  scope: ordersQueue
  properties: {
    description: 'The function sends the copy of a delayed retry.'
    principalId: identity.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: serviceBusDataSender
  }
}

resource maySendErrors 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(errorQueue.id, identity.id, serviceBusDataSender)
  scope: errorQueue
  properties: {
    description: 'The function sends the copy of an order that is given up.'
    principalId: identity.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: serviceBusDataSender
  }
}

resource maySendPlaced 'Microsoft.Authorization/roleAssignments@2022-04-01' = { // one for each queue or topic that your handler sends to
  name: guid(placedQueue.id, identity.id, serviceBusDataSender)
  scope: placedQueue
  properties: {
    description: 'The function says which orders are placed.'
    principalId: identity.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: serviceBusDataSender
  }
}

resource mayOwnBlobs 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(storage.id, identity.id, storageBlobDataOwner)
  scope: storage // the host makes containers of its own, for its locks and keys, and reads the published package
  properties: {
    description: 'The host keeps its locks and keys, and reads what was published.'
    principalId: identity.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: storageBlobDataOwner
  }
}

resource mayUseCircuits 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (rateLimitAfter > 0) {
  name: guid(circuits.id, identity.id, storageTableDataContributor)
  scope: circuits
  properties: {
    description: 'The function reads and changes what the instances share while the rate is limited.'
    principalId: identity.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: storageTableDataContributor
  }
}

resource mayPublishMetrics 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(insights.id, identity.id, monitoringMetricsPublisher)
  scope: insights
  properties: {
    description: 'The host writes the log.'
    principalId: identity.properties.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: monitoringMetricsPublisher
  }
}

// ---- The log, and what somebody should hear of. ----
resource workspace 'Microsoft.OperationalInsights/workspaces@2026-03-01' = {
  name: unique
  location: location
  properties: {
    sku: { name: 'PerGB2018' }
    retentionInDays: 90
  }
}

resource insights 'Microsoft.Insights/components@2020-02-02' = {
  name: unique
  location: location
  kind: 'web'
  properties: {
    Application_Type: 'web'
    WorkspaceResourceId: workspace.id
    DisableLocalAuth: true // identities only
  }
}

resource errorQueueDepthAlert 'Microsoft.Insights/metricAlerts@2026-01-01' = {
  name: '${unique}-error-queue-depth'
  location: 'global'
  properties: {
    description: 'An order was given up. The message in the error queue says why.${unheard}'
    severity: 2
    enabled: true
    scopes: [serviceBus.id]
    evaluationFrequency: 'PT1M'
    windowSize: 'PT5M'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
      allOf: [
        {
          name: 'depth'
          criterionType: 'StaticThresholdCriterion'
          metricNamespace: 'Microsoft.ServiceBus/namespaces'
          metricName: 'ActiveMessages'
          dimensions: [{ name: 'EntityName', operator: 'Include', values: [errorQueue.name] }]
          timeAggregation: 'Maximum'
          operator: 'GreaterThan'
          threshold: 0
        }
      ]
    }
    actions: heardBy
  }
}

resource deadLettersAlert 'Microsoft.Insights/metricAlerts@2026-01-01' = {
  name: '${unique}-dead-letters'
  location: 'global'
  properties: {
    description: 'A dead letter could not be forwarded to the error queue, or died in it.${unheard}'
    severity: 1
    enabled: true
    scopes: [serviceBus.id]
    evaluationFrequency: 'PT1M'
    windowSize: 'PT5M'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
      allOf: [
        {
          name: 'deadLetters'
          criterionType: 'StaticThresholdCriterion'
          metricNamespace: 'Microsoft.ServiceBus/namespaces'
          metricName: 'DeadletteredMessages'
          dimensions: [
            { name: 'EntityName', operator: 'Include', values: concat([ordersQueue.name, errorQueue.name], empty(topicName) ? [] : [topicName]) }
          ]
          timeAggregation: 'Maximum'
          operator: 'GreaterThan'
          threshold: 0
        }
      ]
    }
    actions: heardBy
  }
}

resource ordersWaitAlert 'Microsoft.Insights/metricAlerts@2026-01-01' = {
  name: '${unique}-orders-wait'
  location: 'global'
  properties: {
    description: 'For half an hour the queue was never empty. The function is down, or too slow for what comes.${unheard}'
    severity: 2
    enabled: true
    scopes: [serviceBus.id]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT30M'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.SingleResourceMultipleMetricCriteria'
      allOf: [
        {
          name: 'waiting'
          criterionType: 'StaticThresholdCriterion'
          metricNamespace: 'Microsoft.ServiceBus/namespaces'
          metricName: 'ActiveMessages' // those that are scheduled for a delayed retry are none
          dimensions: [{ name: 'EntityName', operator: 'Include', values: [ordersQueue.name] }]
          timeAggregation: 'Minimum'
          operator: 'GreaterThan'
          threshold: 0
        }
      ]
    }
    actions: heardBy
  }
}

// While the rate is limited and an order waits, one is attempted or deferred at least every two minutes, and each deferral is a line.
resource rateLimitedAlert 'Microsoft.Insights/scheduledQueryRules@2026-03-01' = if (rateLimitAfter > 0) {
  name: '${unique}-rate-limited'
  location: location
  kind: 'LogAlert'
  properties: {
    description: 'All orders have failed for a while, and they wait. What do they all need?${unheard}'
    severity: 2
    enabled: true
    autoMitigate: true
    scopes: [insights.id]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT5M'
    criteria: {
      allOf: [
        {
          query: 'traces | where message startswith "Deferring message" and message has "the rate is limited"'
          timeAggregation: 'Count'
          operator: 'GreaterThan'
          threshold: 0
          failingPeriods: {
            numberOfEvaluationPeriods: rateLimitedAlertMinutes / 5
            minFailingPeriodsToAlert: rateLimitedAlertMinutes / 5
          }
        }
      ]
    }
    actions: { actionGroups: empty(actionGroupId) ? [] : [actionGroupId] }
  }
}

// It reads the ends of the log's lines; docs/run/watch.md has its queries, and host.json keeps the lines from being sampled.
resource workbook 'Microsoft.Insights/workbooks@2023-06-01' = {
  name: guid(resourceGroup().id, name, 'orders')
  location: location
  kind: 'shared'
  properties: {
    displayName: '${unique}-orders'
    category: 'workbook'
    sourceId: insights.id
    serializedData: loadTextContent('workbook.json')
  }
}

output functionAppName string = functionApp.name
output serviceBusNamespace string = '${serviceBus.name}.servicebus.windows.net'
output ordersQueueId string = ordersQueue.id
output errorQueueId string = errorQueue.id
output workbookId string = workbook.id
output alertsNotify string = empty(actionGroupId) ? 'nobody' : actionGroupId
